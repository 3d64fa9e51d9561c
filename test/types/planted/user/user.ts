// A program that installs nothing beside this package, Node's types included: the declarations that it meets are checked.
import { dependency } from "plimsoll";
import * as aws from "plimsoll/aws";
import * as core from "plimsoll/core";
import * as fetching from "plimsoll/fetch";
import * as sim from "plimsoll/sim";
import * as testing from "plimsoll/testing";
import * as testingNode from "plimsoll/testing/node";

export const answer: Promise<string> = dependency({ name: "stock" }).operation("view")(() => "in stock");
export const wrong: number = "the compiler has read this file";
export { aws, core, fetching, sim, testing, testingNode };

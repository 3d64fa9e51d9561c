// What must and must not compile around guarded HTTP clients: a guarded client is of its client's own type.
import axios, { type AxiosInstance } from "axios";
import got, { type Got } from "got";
import ky, { type KyInstance } from "ky";
import { guard as guardAxios } from "../axios/index.ts";
import { guard as guardGot } from "../got/index.ts";
import { guard as guardKy } from "../ky/index.ts";

const ofKy: KyInstance = guardKy(ky, { name: "stock", operation: { attemptTimeoutMs: 60 } });
const ofAxios: AxiosInstance = guardAxios(axios.create(), { name: "stock", bulkhead: { limit: 12 } });
const ofGot: Got = guardGot(got, { name: "stock", marginMs: 5 });
const json: Promise<{ left: number }> = ofGot("http://stock.internal").json();

// @ts-expect-error whether it is idempotent follows from the method
guardKy(ky, { name: "stock", operation: { idempotent: true } });
// @ts-expect-error a reply is passed on as it is
guardAxios(axios, { name: "stock", operation: { fallback: () => null } });
// @ts-expect-error a limit without a unit is nobody's option
guardGot(got, { name: "stock", timeout: 5 });

export { json, ofAxios, ofGot, ofKy };

/** The JSON Schema of a system file, for editors; the build writes it to `dist/system/system.schema.json`. */
import { z } from "zod";
import { systemSchema } from "./schema.ts";

/** JSON Schema, draft 2020-12. */
export const jsonSchema: Readonly<Record<string, unknown>> = {
  title: "Plimsoll system file, version 1",
  ...(z.toJSONSchema(systemSchema) as Record<string, unknown>),
};

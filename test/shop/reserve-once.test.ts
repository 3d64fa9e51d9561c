import { expect, it } from "vitest";
import { CREATE, RESERVE } from "../../shop/src/database/schema.ts";
import { useDatabase } from "../lib/postgres.ts";

const database = useDatabase();

it("reserves once for a key that is looked up, also at the same time, and each time without one", async () => {
  await database.ask(CREATE);
  const db = database.open({ size: 4 });
  const reserve = (key: string, once: string | null) =>
    db.operation("reserve")((connection) =>
      connection.transaction((transaction) => transaction.query({ ...RESERVE, values: [7, key, once] })),
    );
  const left = async () => {
    const [row] = (await database.ask("select 1000000 - available as sold from stock where item_id = 7")) as {
      sold: number;
    }[];
    return row?.sold;
  };
  await Promise.all([reserve("K-42", "K-42"), reserve("K-42", "K-42"), reserve("K-42", "K-42")]);
  await reserve("K-42", "K-42");
  expect(await left()).toBe(1);
  await Promise.all([reserve("K-43", null), reserve("K-43", null)]);
  expect(await left()).toBe(3);
});

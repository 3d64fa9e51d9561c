/**
 * The shop's tables, in a schema of their own, and its storage, whose speed is a row that can be updated.
 *
 * `slow()` stands for the storage: it sleeps for an exponential time with the mean that the row says. pg_sleep rounds
 * up to whole ms, half a ms on average, so that half a ms is taken off first. Whatever else a piece of work takes is
 * measured, not guessed.
 */

/** Items in stock; an action takes the one with its number. */
export const ITEMS = 1_000;
/** More of each than any run can sell. */
const AVAILABLE = 1_000_000;

/** Makes everything. */
export const CREATE = `
  create table items (id int primary key, name text not null, price_cents int not null);
  create table stock (item_id int primary key references items, available int not null check (available >= 0));
  create table reservations (
    id bigint generated always as identity primary key,
    checkout_key text not null,
    once_key text unique,
    item_id int not null references items,
    quantity int not null,
    created_at timestamptz not null default clock_timestamp()
  );
  -- Not unique: as shipped nobody looks whether a checkout has been reserved before, and that is to be seen. Who does
  -- look writes the key down a second time, where it is unique.
  create index on reservations (checkout_key);
  create table storage (mean_ms double precision not null);
  create function slow() returns void language sql volatile as $$
    select pg_sleep(greatest(0, -ln(1 - random()) * mean_ms - 0.5) / 1000) from storage
  $$;
  insert into items select n, 'item ' || n, 100 + n from generate_series(0, ${ITEMS - 1}) n;
  insert into stock select n, ${AVAILABLE} from generate_series(0, ${ITEMS - 1}) n;
  insert into storage values (0);
  analyze;
`;

/** A cart's badge: what is left of an item, as the storage gives it. */
export const VIEW = { name: "view", text: "select available, slow() from stock where item_id = $1" };

/** The first step of a reserve: the storage. */
export const WAIT = { name: "wait", text: "select slow()" };

/** What bounds a statement here and now, in ms; 0 for nothing. */
export const BOUND = {
  name: "bound",
  text: "select setting::int as bound from pg_settings where name = 'statement_timeout'",
};

/**
 * The second step of a reserve: written down under the checkout's key, one less of the item. With a key that is unique
 * (the third value, else null) it is done once: an attempt that comes again finds the row, or waits for who writes it.
 */
export const RESERVE = {
  name: "reserve",
  text: `
    with written as (
      insert into reservations (checkout_key, once_key, item_id, quantity) values ($2, $3, $1, 1)
      on conflict (once_key) do nothing returning item_id
    )
    update stock set available = available - 1 from written where stock.item_id = written.item_id`,
};

/**
 * Commits beyond the first of each checkout, by second after $1 (ms after the epoch, by the database's clock), and
 * among them those that were a second one.
 */
export const EXTRA_COMMITS = `
  with numbered as (
    select created_at, row_number() over (partition by checkout_key order by created_at, id) as nth
    from reservations
  )
  select floor((extract(epoch from created_at) * 1000 - $1::float8) / 1000)::int as second,
    count(*)::int as extra, (count(*) filter (where nth = 2))::int as duplicated
  from numbered where nth > 1 group by 1`;

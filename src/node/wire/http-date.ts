/**
 * HTTP dates (RFC 9110 §5.6.7): IMF-fixdate, and the two old forms that a recipient must accept. Read by grammar,
 * not by `Date.parse`, which takes `-5`, `1.5` and much else for a date.
 */

const MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
const TIME = "(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})";
const SHORT_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAY = "(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)";

const FORMS: readonly RegExp[] = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^${SHORT_DAY}, (?<day>[0-9]{2}) (?<month>${MONTHS}) (?<year>[0-9]{4}) ${TIME} GMT$`),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^${LONG_DAY}, (?<day>[0-9]{2})-(?<month>${MONTHS})-(?<year>[0-9]{2}) ${TIME} GMT$`),
  // Sun Nov  6 08:49:37 1994
  new RegExp(`^${SHORT_DAY} (?<month>${MONTHS}) (?<day>[0-9]{2}| [0-9]) ${TIME} (?<year>[0-9]{4})$`),
];

/** Ms since 1970, or undefined if it is no HTTP date. `now`, in the same unit, decides the century of `94`. */
export function parseHttpDate(text: string, now: number): number | undefined {
  for (const form of FORMS) {
    const groups = form.exec(text)?.groups;
    if (groups !== undefined) return timeOf(groups, now);
  }
  return undefined;
}

function timeOf(groups: Record<string, string>, now: number): number | undefined {
  const month = MONTHS.split("|").indexOf(groups.month as string);
  const [day, hour, minute, second] = ["day", "hour", "minute", "second"].map((part) => Number(groups[part]));
  const at = (year: number): number =>
    Date.UTC(year, month, day, hour, minute, Math.min(second as number, 59));
  const year = groups.year as string;
  const time = year.length === 4 ? at(Number(year)) : inCentury(at, Number(year), now);
  const date = new Date(time);
  // 31 Feb and 25:00 would roll over; second 60 is a leap second and allowed.
  const real = date.getUTCDate() === day && date.getUTCHours() === hour && date.getUTCMinutes() === minute;
  return real && (second as number) <= 60 ? time : undefined;
}

/** More than 50 years ahead, a two-digit year is the last past one with these digits (RFC 9110 §5.6.7). */
function inCentury(at: (year: number) => number, digits: number, now: number): number {
  const today = new Date(now);
  const thisYear = today.getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return at(year) > today.setUTCFullYear(thisYear + 50) ? at(year - 100) : at(year);
}

// What the clients have in common, for tests that hold for each of them.
import axios from "axios";
import got from "got";
import ky from "ky";
import { guard as guardAxios } from "../../src/node/axios/index.ts";
import { guard as guardFetch } from "../../src/node/fetch/index.ts";
import { guard as guardGot } from "../../src/node/got/index.ts";
import type { HttpClientOptions } from "../../src/node/http-clients/methods.ts";
import { guard as guardKy } from "../../src/node/ky/index.ts";
import { NodeRuntime } from "../../src/node/runtime.ts";

/** A request of a test. */
export interface Asked {
  readonly body?: string;
  readonly stream?: () => ReadableStream | NodeJS.ReadableStream;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Sends, and gives the text of the reply; a reply of 400 or above is an error with its status. */
export type Ask = (method: string, url: string, asked?: Asked) => Promise<string>;

/** The clients, under guards. */
export const CLIENTS: Readonly<Record<string, (options: Partial<HttpClientOptions>) => Ask>> = {
  ky(options) {
    const api = guardKy(ky, { name: "stock", ...options }, new NodeRuntime());
    return (method, url, { stream, ...asked } = {}) =>
      api(url, { method, ...asked, ...(stream && { body: stream() as ReadableStream }) }).text();
  },
  fetch(options) {
    const api = guardFetch({ name: "stock", ...options }, new NodeRuntime());
    return async (method, url, { stream, ...asked } = {}) => {
      const body = stream && { body: stream() as ReadableStream, duplex: "half" as const };
      const response = await api(url, { method, ...asked, ...body });
      if (!response.ok) throw Object.assign(new Error(`${response.status}`), { response });
      return response.text();
    };
  },
  axios(options) {
    const api = guardAxios(axios, { name: "stock", ...options }, new NodeRuntime());
    return async (method, url, { body, stream, ...asked } = {}) => {
      const data = stream?.() ?? body;
      const config = {
        method,
        url,
        responseType: "text",
        ...(data !== undefined && { data }),
        ...asked,
      } as const;
      return (await api.request(config)).data as string;
    };
  },
  got(options) {
    const api = guardGot(got, { name: "stock", ...options }, new NodeRuntime());
    return (method, url, { stream, ...asked } = {}) =>
      api(url, { method: method as "GET", ...asked, ...(stream && { body: stream() as never }) }).text();
  },
};

/** The status that a client's error tells. */
export function statusOf(error: unknown): number | undefined {
  const { response } = error as { response?: { status?: number; statusCode?: number } };
  return response?.status ?? response?.statusCode;
}

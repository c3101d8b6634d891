/**
 * A client of `interlock serve` for Node 20 and browsers, without dependencies.
 *
 *     const server = new Interlock("http://127.0.0.1:7420", token);
 *     const run = await server.start({ machine: "approve", folder: "/home/ada/x", input: { change: "faster" } });
 *     for await (const notice of server.events({ run: run.run })) console.log(notice.phase, notice.place);
 */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Phase = "active" | "waiting" | "paused" | "succeeded" | "incomplete" | "failed" | "aborted";

/** A run as lists show it. */
export interface Run {
  run: string;
  machine: string;
  phase: Phase;
  place: string;
  seq: number;
  created: string;
  updated: string;
  due: string | null;
  parent?: string;
  waits?: { for: "person" | "timer" | "activity" | "run"; what: string } | null;
}

/** A record that was added to the store. */
export interface Notice {
  number: number;
  run: string;
  machine: string;
  seq: number;
  phase: Phase;
  place: string;
  updated: string;
}

/** A run to start. */
export interface NewRun {
  machine: string;
  folder: string;
  input?: { [name: string]: Json };
  name?: string;
  agent?: string;
}

/** A request that failed. `hint` is the next action. */
export class Problem extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly hint: string | null = null) {
    super(message);
  }
}

type Query = { [name: string]: string | number | undefined };

/** A connection to a server. */
export class Interlock {
  private readonly base: string;

  constructor(address: string, private readonly token: string) {
    this.base = address.replace(/\/$/, "") + "/api/v1";
  }

  /** Lists the machines of a project directory. */
  async machines(folder?: string): Promise<{ id: string; summary: string }[]> {
    return (await this.call("GET", "/machines", { folder })).machines;
  }

  /** Yields runs, newest first, page by page. */
  async *runs(query: Query = {}): AsyncGenerator<Run> {
    let before: string | undefined;
    do {
      const page = await this.call("GET", "/runs", { ...query, before });
      yield* page.runs as Run[];
      before = page.next ?? undefined;
    } while (before !== undefined);
  }

  /** Lists the runs that wait for a person. */
  async inbox(query: Query = {}): Promise<(Run & { offers: any })[]> {
    return (await this.call("GET", "/inbox", query)).items;
  }

  start(run: NewRun): Promise<Run> {
    return this.call("POST", "/runs", {}, run);
  }

  /** Shows a run: state, data, and the events that it accepts. */
  show(run: string): Promise<any> {
    return this.call("GET", `/runs/${encodeURIComponent(run)}`);
  }

  /** Lists the records of a run with their transitions. */
  async trace(run: string, from = 1, limit = 200): Promise<any[]> {
    return (await this.call("GET", `/runs/${encodeURIComponent(run)}/trace`, { from, limit })).records;
  }

  /** Returns what has changed in the directory of a run, as a unified diff. */
  async diff(run: string): Promise<string> {
    return (await this.call("GET", `/runs/${encodeURIComponent(run)}/diff`)).diff;
  }

  /** Sends an event. With an `id` it can be sent again after a lost answer. */
  send(run: string, event: string, data: { [name: string]: Json } = {}, id?: string): Promise<{ seq: number; repeated: boolean }> {
    return this.call("POST", `/runs/${encodeURIComponent(run)}/events`, {}, id === undefined ? { event, data } : { event, data, id });
  }

  pause(run: string): Promise<any> {
    return this.call("POST", `/runs/${encodeURIComponent(run)}/pause`);
  }

  resume(run: string): Promise<any> {
    return this.call("POST", `/runs/${encodeURIComponent(run)}/resume`);
  }

  abort(run: string): Promise<any> {
    return this.call("POST", `/runs/${encodeURIComponent(run)}/abort`);
  }

  /** Makes a new run from the first records of a run. */
  fork(run: string, at: number, name?: string): Promise<Run> {
    return this.call("POST", `/runs/${encodeURIComponent(run)}/fork`, {}, name === undefined ? { at } : { at, name });
  }

  /** Yields a notice for each new record. After a lost connection it continues without a gap. */
  async *events(wanted: { run?: string; since?: number; signal?: AbortSignal } = {}): AsyncGenerator<Notice> {
    let since = wanted.since;
    while (!wanted.signal?.aborted) {
      try {
        const answer = await this.open("GET", "/events", { run: wanted.run, since }, undefined, wanted.signal);
        for await (const event of eventsOf(answer)) {
          since = event.number ?? since;
          if (event.kind === "record") yield event.data as Notice;
        }
      } catch (error) {
        if (wanted.signal?.aborted) return;
        if (error instanceof Problem) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  private async call(method: string, path: string, query: Query = {}, body?: unknown): Promise<any> {
    return (await this.open(method, path, query, body)).json();
  }

  private async open(method: string, path: string, query: Query, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const url = new URL(this.base + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const answer = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal });
    if (!answer.ok) throw await problem(answer);
    return answer;
  }
}

async function problem(answer: Response): Promise<Problem> {
  const told = await answer.json().then((json: any) => json.error, () => undefined);
  return new Problem(answer.status, told?.code ?? "FAILED", told?.message ?? `the server answered ${answer.status}`, told?.hint ?? null);
}

async function* eventsOf(answer: Response): AsyncGenerator<{ kind: string; number?: number; data: unknown }> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const blocks = (rest + piece.value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => block.split("\n").find((line) => line.startsWith(name + ":"))?.slice(name.length + 1).trim();
      const [data, id] = [field("data"), field("id")];
      if (data !== undefined) yield { kind: field("event") ?? "message", number: id === undefined ? undefined : Number(id), data: JSON.parse(data) };
    }
  }
}

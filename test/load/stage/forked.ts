/** A side in a process of its own: its garbage, its just-in-time compiler and its core are no other side's. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Sample, Side } from '../figure.js';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type Told = { start: { module: string; settings: Json } } | { round: number };
export type Answer = { ready: true } | { sample: Sample } | { error: string };

/** A module beside another, as it is run: compiled, or by the tests as it was written. */
export const beside = (meta: ImportMeta, name: string): URL => new URL(`${name}${extname(meta.filename)}`, meta.url);

/** @param module exports `start(settings): Promise<Side>`. @param environment beside this process's. */
export async function forkedSide(module: URL, settings: Json, environment: Record<string, string> = {}): Promise<Side> {
  const child = fork(fileURLToPath(beside(import.meta, './side-process')), [], { env: { ...process.env, ...environment } });
  const exited = once(child, 'exit');
  const ask = async (told: Told): Promise<Answer> => {
    const patience = new AbortController();
    const { signal } = patience;
    try {
      child.send(told);
      const answer = (await Promise.race([
        once(child, 'message', { signal }).then(([message]) => message),
        exited.then(([code]) => ({ error: `${module.pathname} ended with ${code}.` })),
      ])) as Answer;
      if ('error' in answer) throw new Error(answer.error);
      return answer;
    } finally {
      patience.abort();
    }
  };
  await ask({ start: { module: module.href, settings } });
  return {
    async round(seconds) {
      const answer = await ask({ round: seconds });
      return 'sample' in answer ? answer.sample : {};
    },
    async close() {
      // It closes what it opened when nobody is there to ask.
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';

export const SEEN_HEADER = 'countersign-seen';
const REPLAY_HEADER = 'idempotent-replay';

export interface ReplyOptions {
  /** 200 when omitted; 201 for what was made. */
  status?: number;
  /** Where the write of this request landed, so that the caller's next list has it (K14). A handled command can be given as it is. */
  seen?: { position: number; events?: readonly { bucket: number }[]; bucket?: number };
  /** The answer repeats that of an earlier request; nothing was done again. */
  replayed?: boolean;
  /** The operation has a successor: its path, and when this one ends (an HTTP date). */
  deprecated?: { successor: string; sunset: string };
  /** Several values of one name (`Set-Cookie`) as a list. */
  headers?: Record<string, string | string[]>;
}

/** A controller's answer with more to it than the body. Made by `respond`. */
export class Reply<T> {
  constructor(
    readonly body: T,
    readonly options: ReplyOptions,
  ) {}
}

/** What a controller returns when a status or header goes with the body; a bare body is a 200. `undefined` as the body sends none. */
export function respond<T>(body: T, options: ReplyOptions = {}): Reply<T> {
  return new Reply(body, options);
}

/** The position of a write as `Countersign-Seen` carries it: `<position>.<bucket>`. */
export interface Seen {
  position: number;
  bucket: number;
}

/** One for each bucket is as many as make sense (K11). */
const MOST_TOKENS = 64;

export function seenToken(seen: Seen): string {
  return `${seen.position}.${seen.bucket}`;
}

/** The positions a reader has written: one token, or several parted by commas. Nonsense names none, and nobody waits for it. */
export function parseSeen(header: string | string[] | undefined): Seen[] {
  const tokens = String(header ?? '').split(',', MOST_TOKENS);
  return tokens.flatMap((token) => {
    const match = /^\s*(\d{1,15})\.(\d{1,5})\s*$/.exec(token);
    return match ? [{ position: Number(match[1]), bucket: Number(match[2]) }] : [];
  });
}

/** Writes what `respond` was given onto the HTTP reply. Every answer without a status of its own is a 200, POST included. */
@Injectable()
export class ReplyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      map((answer: unknown) => {
        const { body, options } = answer instanceof Reply ? answer : { body: answer, options: {} };
        http.code(options.status ?? (body === undefined ? 204 : 200));
        for (const [name, value] of Object.entries(headersOf(options))) http.header(name, value);
        return body;
      }),
    );
  }
}

/** The header that names a write; nothing when nothing was written. */
export function seenHeader(seen: ReplyOptions['seen']): Record<string, string> {
  const bucket = seen?.bucket ?? seen?.events?.at(-1)?.bucket;
  return seen && seen.position > 0 && bucket !== undefined ? { [SEEN_HEADER]: seenToken({ position: seen.position, bucket }) } : {};
}

function headersOf({ seen, replayed, deprecated, headers }: ReplyOptions): Record<string, string | string[]> {
  return {
    ...seenHeader(seen),
    ...(replayed ? { [REPLAY_HEADER]: 'true' } : {}),
    ...(deprecated ? { deprecation: 'true', sunset: deprecated.sunset, link: `<${deprecated.successor}>; rel="successor-version"` } : {}),
    ...headers,
  };
}

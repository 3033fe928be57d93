/** What a schedule leaves for the judge: all that was said, beside the log and what the consumers did. */
import type { Review } from '@countersign/contracts';

export type Reply =
  /** `view`: as the caller was shown it. */
  | { kind: 'ok'; view: Review | null; replayed: boolean; redemption?: { id: string; digest: string } }
  | { kind: 'refused'; code: string; extra: Record<string, unknown> }
  /** Nobody knows whether it was stored. */
  | { kind: 'unknown'; error: string }
  /** A newer release wrote to it: 503. */
  | { kind: 'unavailable' }
  /** 500. */
  | { kind: 'broken'; error: string };

export interface Said {
  /** Names it in the metadata of what it led to. */
  request_id: string;
  actor: string;
  kind: 'person' | 'agent' | 'slug';
  person_id: string | null;
  op: string;
  review: string | null;
  asked: {
    action?: string;
    /** Of what the person had on the screen, what was sent along. */
    seen?: { version?: number; digest?: string };
    key?: string;
    input?: string;
    digest?: string;
    slug?: string;
  };
  /** Steps of the world that had passed. */
  began: number;
  ended: number;
  /** Of the last try, and of those before it. */
  reply: Reply;
  earlier: Reply[];
}

export interface History {
  said: Said[];
  /** The database's clock was set back: what it had shown as over may be shown open again, until somebody writes that it is over. */
  clockSetBack: boolean;
}

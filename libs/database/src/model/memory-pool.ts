/**
 * A pool of connections to a database that is a model: each statement the code sends is one this knows, done in memory in one step.
 *
 * Y1 What a transaction writes is there for all at its commit, or never. What it has locked, others wait for until it ends.
 * Y2 A statement outside of a transaction is one of its own.
 * Y3 A statement nobody has modelled is an error: SQL that changes its beginning or its name is noticed. That what is modelled does what
 *    PostgreSQL does is shown where the model is, by the same statements sent to both.
 */
import type { Pool } from 'pg';

/** What stands between a process and its database: when a statement gets there, and whether its answer comes back. `free`: not yet, locked. */
export type Reach = <T>(what: string, work: () => T, free?: () => boolean) => Promise<T>;

/** Given what a statement writes; done at the commit. */
export type Write = (change: () => void) => void;

export interface Statement {
  /** Its name, or how its text begins once white space is single. */
  begins: string;
  /** Rows it locks, named; asked whenever it may go on. */
  locks?(values: never): string[];
  /** Answers the rows, or how many it changed where it returns none. */
  run(values: never, write: Write): unknown[] | number;
}

interface Query {
  text: string;
  name?: string;
  values?: unknown[];
}
interface Answer {
  rows: unknown[];
  rowCount: number;
  command: string;
}

/** Who holds which rows. One for all pools of a database. */
export class RowLocks {
  readonly #held = new Map<string, object>();

  /** Whether nobody else holds them. */
  free(rows: () => readonly string[], holder: object): boolean {
    return this.#held.size === 0 || rows().every((row) => (this.#held.get(row) ?? holder) === holder);
  }

  take(rows: readonly string[], holder: object): void {
    for (const row of rows) this.#held.set(row, holder);
  }

  release(holder: object): void {
    for (const [row, by] of this.#held) if (by === holder) this.#held.delete(row);
  }
}

export class MemoryPool {
  readonly #open = new Set<Session>();
  readonly #known = new Map<string, Statement>();
  readonly #statements: readonly Statement[];
  readonly #locks: RowLocks;
  readonly reach: Reach;

  constructor(options: { statements: readonly Statement[]; locks: RowLocks; reach: Reach }) {
    this.#statements = options.statements;
    this.#locks = options.locks;
    this.reach = options.reach;
  }

  /** As the code under test takes it. */
  get pool(): Pool {
    return this as unknown as Pool;
  }

  async query(query: string | Query, values: unknown[] = []): Promise<Answer> {
    const { name, text, values: given = values } = typeof query === 'string' ? { text: query, name: undefined } : query;
    const statement = this.statement(text, name);
    const session = {};
    const locked = () => statement.locks?.(given as never) ?? [];
    return this.reach(
      statement.begins,
      () => {
        const changes: (() => void)[] = [];
        const rows = statement.run(given as never, (change) => changes.push(change));
        for (const change of changes) change();
        return answerOf(rows);
      },
      statement.locks && (() => this.#locks.free(locked, session)),
    );
  }

  async connect(): Promise<Session> {
    const session = new Session(this, this.#locks, () => this.#open.delete(session));
    this.#open.add(session);
    return session;
  }

  /** The process is gone: what it had not committed never was. */
  kill(): void {
    for (const session of this.#open) session.abandon();
  }

  statement(text: string, name: string | undefined): Statement {
    const known = this.#known.get(text);
    if (known) return known;
    const told = name ?? text.replace(/\s+/g, ' ').trim();
    const found = this.#statements.find(({ begins }) => (name === undefined ? told.startsWith(begins) : told === begins));
    if (!found) throw new Error(`The model of the database does not know: ${told.slice(0, 120)}`);
    this.#known.set(text, found);
    return found;
  }
}

const answerOf = (said: unknown[] | number): Answer =>
  typeof said === 'number' ? { rows: [], rowCount: said, command: '' } : { rows: said, rowCount: said.length, command: '' };

/** One connection taken from the pool. */
class Session {
  #changes: (() => void)[] = [];

  constructor(
    private readonly pool: MemoryPool,
    private readonly locks: RowLocks,
    private readonly gone: () => void,
  ) {}

  async query(query: string | Query, values: unknown[] = []): Promise<Answer> {
    const { name, text, values: given = values } = typeof query === 'string' ? { text: query, name: undefined } : query;
    switch (text) {
      case 'begin':
        return { rows: [], rowCount: 0, command: 'BEGIN' };
      case 'commit':
        return this.pool.reach('commit', () => this.#end(this.#changes, 'COMMIT'));
      case 'rollback':
        return this.#end([], 'ROLLBACK');
      default:
        return this.#run(this.pool.statement(text, name), given as never);
    }
  }

  abandon(): void {
    this.#end([], 'ROLLBACK');
  }

  on(): void {}
  removeListener(): void {}

  release(): void {
    this.abandon();
    this.gone();
  }

  #run(statement: Statement, values: never): Promise<Answer> {
    const rows = () => statement.locks?.(values) ?? [];
    return this.pool.reach(
      statement.begins,
      () => {
        this.locks.take(rows(), this);
        return answerOf(statement.run(values, (change) => this.#changes.push(change)));
      },
      statement.locks && (() => this.locks.free(rows, this)),
    );
  }

  #end(changes: (() => void)[], command: string): Answer {
    for (const change of changes) change();
    this.#changes = [];
    this.locks.release(this);
    return { rows: [], rowCount: 0, command };
  }
}

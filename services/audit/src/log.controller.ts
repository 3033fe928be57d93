import { Readable } from 'node:stream';
import { AuditExportQuery, AuditQuery, type AuditVerification, AuditVerifyQuery } from '@countersign/contracts';
import { type CallerIdentity, contract, Identity, listBody, pageOf, parseSeen, SEEN_HEADER } from '@countersign/http';
import { Controller, Get, Headers, Inject, Query, StreamableFile } from '@nestjs/common';
import { type AuditContext, CONTEXT } from './deps.js';
import { exportLog, type LogFilter, listLog, showsStream } from './queries/log.js';
import { rangeToVerify } from './queries/verify-range.js';
import { mayReadLog, ownWrite, projectOf } from './reader.js';

/** The audit log: who did what, and whether it is as it was written (HRP §9, §13). */
@Controller('/api/v1/audit')
export class LogController {
  constructor(@Inject(CONTEXT) private readonly context: AuditContext) {}

  @Get()
  async list(
    @Identity() { actor }: CallerIdentity,
    @Headers(SEEN_HEADER) seen: string | undefined,
    @Query(contract(AuditQuery)) query: AuditQuery,
  ) {
    mayReadLog(actor);
    await ownWrite(this.context, parseSeen(seen));
    const { readModels, pool } = this.context;
    const { events, total, capped, hasMore, nextCursor } = await listLog(readModels, pool, projectOf(actor), query, pageOf(query));
    return listBody(events, { total, totalIsCapped: capped, hasMore, nextCursor });
  }

  @Get('verify')
  async verify(
    @Identity() { actor }: CallerIdentity,
    @Query(contract(AuditVerifyQuery)) query: AuditVerifyQuery,
  ): Promise<AuditVerification> {
    mayReadLog(actor);
    const { store } = this.context;
    const head = (await store.head()).position;
    const { from, to } = rangeToVerify(query, head);
    const report = await store.verify({ from, to });
    return {
      object: 'audit_verification',
      valid: report.valid,
      verified_from: report.verifiedFrom,
      verified_to: report.verifiedTo,
      events: report.events,
      redacted: report.redacted,
      first_bad: report.firstBad && { ...report.firstBad, stream: await this.#nameable(projectOf(actor), report.firstBad.stream) },
    };
  }

  @Get('export')
  export(@Identity() { actor }: CallerIdentity, @Query(contract(AuditExportQuery)) query: AuditExportQuery): StreamableFile {
    mayReadLog(actor);
    const { from: first, to: last, ...filter } = query;
    const pages = exportLog(this.context.readModels, this.context.pool, projectOf(actor), { ...(filter as LogFilter), first, last });
    const lines = async function* () {
      for await (const events of pages) yield events.map((event) => `${JSON.stringify(event)}\n`).join('');
    };
    return new StreamableFile(Readable.from(lines()), { type: 'application/x-ndjson' });
  }

  /** Another project's stream is not named. */
  async #nameable(project: string, stream: string | null): Promise<string | null> {
    if (stream === null) return null;
    return (await showsStream(this.context.readModels, this.context.pool, project, stream)) ? stream : null;
  }
}

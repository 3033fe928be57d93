import { operationOf } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import { addressOf, type InboxOperation, ROUTES } from './operations.js';

describe('the operations the inbox calls', () => {
  it.each(Object.keys(ROUTES) as InboxOperation[])('%s is where the contracts have it', (id) => {
    const { method, path } = operationOf(id);
    expect(ROUTES[id]).toEqual([method, path]);
  });
});

describe('an address', () => {
  it('holds its parameters as one segment each, and what is asked in the query', () => {
    expect(addressOf('/reviews/{id}/claim', { id: '../a b' }, { force: true, cursor: undefined })).toBe(
      '/reviews/..%2Fa%20b/claim?force=true',
    );
    expect(addressOf('/reviews')).toBe('/reviews');
  });
});

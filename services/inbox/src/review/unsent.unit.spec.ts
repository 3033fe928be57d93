import { beforeEach, describe, expect, it } from '@jest/globals';
import { UnsentStore } from './unsent.js';

class Memory extends Map<string, string> implements Storage {
  [name: string]: unknown;
  get length(): number {
    return this.size;
  }
  key = () => null;
  getItem = (key: string) => this.get(key) ?? null;
  setItem(key: string, value: string): void {
    this.set(key, value);
    // As a browser does, so that its keys are listed.
    this[key] = value;
  }
  removeItem(key: string): void {
    this.delete(key);
    delete this[key];
  }
}

describe('what was not sent', () => {
  let storage: Memory;
  let store: UnsentStore;
  const typed = { edits: { subject: { text: '12,', value: '12,', problem: 'Enter a number.' } }, feedback: 'Why?' };
  beforeEach(() => {
    storage = new Memory();
    store = new UnsentStore(storage);
  });

  it('comes back as it was typed, to whoever typed it', () => {
    store.keep('rev_1', 'per_1', typed);
    expect(store.read('rev_1', 'per_1')).toEqual(typed);
    expect(store.read('rev_1', 'per_2')).toBeNull();
    expect(store.read('rev_2', 'per_1')).toBeNull();
  });
  it('is gone once nothing is left of it', () => {
    store.keep('rev_1', 'per_1', typed);
    store.keep('rev_1', 'per_1', { edits: {}, feedback: '  ' });
    expect(storage.size).toBe(0);
  });
  it('is cleared without touching what else is stored', () => {
    storage.setItem('theme', 'dark');
    store.keep('rev_1', 'per_1', typed);
    store.clear();
    expect([...storage.keys()]).toEqual(['theme']);
  });
  it('survives a storage that refuses, and one that holds nonsense', () => {
    storage.setItem('countersign.unsent.rev_1', '{');
    expect(store.read('rev_1', 'per_1')).toBeNull();
    storage.setItem = () => {
      throw new Error('QuotaExceededError');
    };
    expect(() => store.keep('rev_1', 'per_1', typed)).not.toThrow();
  });
});

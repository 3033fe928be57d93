import type { Actor } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import { claim } from '../commands/hold.js';
import {
  agent,
  ann,
  asked,
  bob,
  chief,
  empty,
  foreignAgent,
  OTHER_PROJECT,
  ownedAgent,
  owner,
  PROJECT,
  person,
  stranger,
  TEMPLATE,
} from '../review-fixture.js';
import { may, REVIEW_COMMANDS, type ReviewCommandName } from './policy.js';

/** Every actor kind there is (an expired credential is nobody: the gateway lets none through). */
const ACTORS: Record<string, Actor> = {
  'key with all scopes': agent,
  'key of another project': foreignAgent,
  'the requesting key': ownedAgent,
  'key limited to another template': { ...agent, template_ids: ['tpl_0000000000000000000000000x'] },
  'key limited to this template': { ...agent, template_ids: [TEMPLATE] },
  'key without scopes': { ...agent, scopes: [] },
  reviewer: ann,
  admin: chief,
  'owner of the requesting key': owner,
  'reviewer of another project': stranger,
  'person without a role': person('eve', null),
  'person of both, working in the other': { ...ann, project_id: OTHER_PROJECT, roles: { [PROJECT]: 'reviewer', [OTHER_PROJECT]: 'admin' } },
  anonymous: { kind: 'anonymous' },
};

const ok = 'ok';
const human = 'human_actor_required';
const none = 'review_not_found';
const key = 'missing_credentials';
const no = 'forbidden';

/** A key's command, a person's command, and one that is open to both; columns in the order of ACTORS. */
const agents = [ok, none, ok, none, ok, no, no, no, no, no, no, no, key];
const people = [human, human, human, human, human, human, ok, ok, ok, none, none, ok, key];
const admins = [human, human, human, human, human, human, no, ok, ok, none, none, no, key];
const either = [ok, none, ok, none, ok, no, ok, ok, ok, none, none, ok, key];

/** One row for each command: a command without a row does not compile, and a row must hold for every actor. */
const MATRIX: Record<ReviewCommandName, string[]> = {
  request: agents,
  resubmit: agents,
  withdraw: agents,
  redeem: agents,
  record_execution: agents,
  read: either,
  act: people,
  draft: people,
  claim: people,
  force_claim: admins,
  release: people,
  assign: admins,
  archive: either,
  unarchive: either,
};

const code = (...args: Parameters<typeof may>): string => {
  const permission = may(...args);
  return permission.ok ? ok : permission.refusal.code;
};

const review = () => asked({ actor: ownedAgent }).state;

describe('who may do what to a review', () => {
  it('has a row for every command and a column for every actor', () => {
    expect(Object.keys(MATRIX).sort()).toEqual([...REVIEW_COMMANDS].sort());
    for (const row of Object.values(MATRIX)) expect(row).toHaveLength(Object.keys(ACTORS).length);
  });

  const cells = REVIEW_COMMANDS.flatMap((command) =>
    Object.entries(ACTORS).map(([name, actor], i) => [command, name, actor, MATRIX[command][i] as string] as const),
  );
  it.each(cells)('%s by %s', (command, _name, actor, answer) => {
    expect(code(actor, command, review())).toBe(answer);
  });

  it('P1: is told to a key, and to nobody signed in, before anything is looked up', () => {
    for (const command of REVIEW_COMMANDS) {
      for (const actor of [agent, foreignAgent, { ...agent, scopes: [] }]) {
        const told = code(actor, command);
        if (MATRIX[command][0] === human) expect(told).toBe(human);
        else expect(told).toBe(actor.scopes.length > 0 ? ok : no);
        expect(code(actor, command, empty().state)).toBe(told === ok ? none : told);
      }
      expect(code({ kind: 'anonymous' }, command)).toBe(key);
    }
  });

  it('P2: a review that is none is none to everybody', () => {
    expect(code(ann, 'read', empty().state)).toBe(none);
    expect(code(chief, 'assign', empty().state)).toBe(none);
  });

  it('P2, P3: a request is about a template of the key’s project, and one it may use', () => {
    const subject = { project_id: PROJECT, template_id: TEMPLATE, ref: 'mail' };
    expect(code(agent, 'request', subject)).toBe(ok);
    expect(may(agent, 'request', { ...subject, project_id: OTHER_PROJECT })).toMatchObject({
      refusal: { code: 'template_not_found', param: 'template' },
    });
    expect(code({ ...agent, template_ids: [] }, 'request', subject)).toBe('template_not_found');
    expect(code(ann, 'read', subject)).toBe(none);
  });

  it('P3: what a key may not see is refused in the words of what is not there', () => {
    const limited = { ...agent, template_ids: [] };
    for (const command of REVIEW_COMMANDS) expect(may(limited, command, review())).toEqual(may(limited, command, empty().state));
  });

  it('P2: a role that is no own member of the roles is none', () => {
    expect(code(person('eve', null, { roles: Object.create({ [PROJECT]: 'admin' }) }), 'act', review())).toBe(none);
  });

  it('P4: somebody else’s hold stops what decides, drafts or claims, and nothing else', () => {
    const held = asked().when((state, now) => claim({ actor: ann }, state, now)).next.state;
    for (const command of REVIEW_COMMANDS) {
      const stopped = ['act', 'draft', 'claim'].includes(command);
      expect(code(chief, command, held)).toBe(stopped ? 'review_already_held' : MATRIX[command][7]);
      expect(code(ann, command, held)).toBe(MATRIX[command][6]);
    }
  });

  it('P5: whoever answers for the request does not approve it', () => {
    expect(code(owner, 'act', review(), { approves: true })).toBe('requester_cannot_approve');
    expect(code(owner, 'act', review(), { approves: false })).toBe(ok);
    expect(code(bob, 'act', review(), { approves: true })).toBe(ok);
  });

  it('P5: nor does who was shown a key that nobody owns, or owned it before', () => {
    const unowned = asked({ actor: { ...agent, owner: null, former_owners: [ann.person_id] } }).state;
    expect(code(ann, 'act', unowned, { approves: true })).toBe('requester_cannot_approve');
    expect(code(ann, 'act', unowned, { approves: false })).toBe(ok);
    expect(code(bob, 'act', unowned, { approves: true })).toBe(ok);
  });
});

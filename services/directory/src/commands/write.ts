import {
  type Decision,
  type EventMeta,
  type Fold,
  type Handled,
  handle,
  INSTALLATION_PROJECT,
  type StoredEvent,
  StreamBusyError,
} from '@countersign/event-store';
import { writeJoining } from '../credentials/rows.js';
import type { DirectoryDeps } from '../deps.js';
import { type ApiKey, type KeyEvent, keyFold } from '../key/key.js';
import { saveKey, savePerson, saveProject } from '../lookups/save.js';
import { type Person, type PersonEvent, personFold } from '../person/person.js';
import { type Project, type ProjectEvent, projectFold } from '../project/project.js';
import { type DirectoryRefusal, type RefusalCode, refuse } from '../refusals.js';

/** One write path each for projects, people and keys: load, decide, append, then save the look-up rows (catch-up.ts says what a crash leaves). */
type Rules<S, E extends ProjectEvent | PersonEvent | KeyEvent> = (state: S, now: string) => Decision<E, RefusalCode>;

export async function onProject(
  deps: DirectoryDeps,
  id: string,
  meta: EventMeta,
  decide: Rules<Project, ProjectEvent>,
): Promise<Handled<Project, RefusalCode>> {
  const onReserved = () => refuse('slug_already_exists', 'Another project already uses this slug.', { param: 'slug' });
  const handled = await handle(deps.store, { stream: id, project: id, fold: projectFold, decide, meta, onReserved });
  if (handled.events.length > 0) await saveProject(deps.pool, id, handled.state, handled.version);
  return handled;
}

export async function onPerson(
  deps: DirectoryDeps,
  id: string,
  meta: EventMeta,
  decide: Rules<Person, PersonEvent>,
): Promise<Handled<Person, RefusalCode>> {
  const handled = await handle(deps.store, {
    stream: id,
    project: INSTALLATION_PROJECT,
    fold: personFold,
    decide,
    meta,
    onReserved: emailTaken,
  });
  if (handled.events.length > 0) await savePerson(deps.pool, id, handled.state, handled.version);
  return handled;
}

export async function onKey(
  deps: DirectoryDeps,
  key: { id: string; project: string },
  meta: EventMeta,
  decide: Rules<ApiKey, KeyEvent>,
): Promise<Handled<ApiKey, RefusalCode>> {
  const handled = await handle(deps.store, { stream: key.id, project: key.project, fold: keyFold, decide, meta });
  if (handled.events.length > 0) await saveKey(deps.pool, key.id, handled.state, handled.version);
  return handled;
}

const emailTaken = (): DirectoryRefusal => refuse('email_taken', 'An account with this e-mail address already exists.', { param: 'email' });

export interface Joined {
  person: Person;
  project: Project;
  refusal?: DirectoryRefusal;
  events: StoredEvent[];
  position: number;
}

/** Lost races that are decided again (decision 24). */
const ATTEMPTS = 6;

/**
 * A person and a project in one append, both or neither (K5): somebody who joins is registered and a member at the same moment.
 * @throws {StreamBusyError} when the streams kept moving for all attempts.
 */
export async function onPersonAndProject(
  deps: DirectoryDeps,
  ids: { person: string; project: string },
  meta: EventMeta,
  decide: (
    person: Person,
    project: Project,
    now: string,
  ) => { person: Decision<PersonEvent, RefusalCode>; project: Decision<ProjectEvent, RefusalCode> },
): Promise<Joined> {
  const { store, pool } = deps;
  await writeJoining(pool, ids.person, ids.project);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const [personStream, projectStream] = await Promise.all([
      store.readStream<PersonEvent>(ids.person),
      store.readStream<ProjectEvent>(ids.project),
    ]);
    const person = fold(personFold, personFold.initial(), personStream.events);
    const project = fold(projectFold, projectFold.initial(), projectStream.events);
    const decision = decide(person, project, projectStream.now);
    const unchanged = { person, project, events: [], position: 0 };
    const refusal = decision.person.refusal ?? decision.project.refusal;
    if (refusal) return { ...unchanged, refusal };
    const parts = [
      { stream: ids.person, project: INSTALLATION_PROJECT, expectedVersion: personStream.version, events: decision.person.events },
      { stream: ids.project, project: ids.project, expectedVersion: projectStream.version, events: decision.project.events },
    ].filter((part) => part.events.length > 0);
    if (parts.length === 0) return unchanged;

    const result = await store.append<PersonEvent | ProjectEvent>({
      streams: parts,
      meta,
      reserve: decision.person.reserve,
      notAfter: decision.project.notAfter,
    });
    if (result.status === 'reserved') return { ...unchanged, refusal: emailTaken() };
    if (result.status !== 'appended') continue;

    const eventsOf = (stream: string) => result.streams.filter((part) => part.stream === stream).flatMap((part) => part.events);
    const joined = {
      person: fold(personFold, person, eventsOf(ids.person) as StoredEvent<PersonEvent>[]),
      project: fold(projectFold, project, eventsOf(ids.project) as StoredEvent<ProjectEvent>[]),
      events: result.streams.flatMap((part) => part.events),
      position: result.position,
    };
    await savePerson(pool, ids.person, joined.person, personStream.version + eventsOf(ids.person).length);
    await saveProject(pool, ids.project, joined.project, projectStream.version + eventsOf(ids.project).length);
    return joined;
  }
  throw new StreamBusyError(`${ids.person} and ${ids.project}`);
}

function fold<S, E extends PersonEvent | ProjectEvent>(by: Fold<S, E>, state: S, events: StoredEvent<E>[]): S {
  return events.reduce((s, event) => by.evolve(s, event), state);
}

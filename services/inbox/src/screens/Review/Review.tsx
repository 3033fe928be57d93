import { useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { Refused, sentenceOf } from '../../api/failure.js';
import { useKeys } from '../../elements/keys.js';
import { Banner } from '../../elements/telling/Banner.js';
import { EmptyState } from '../../elements/telling/EmptyState.js';
import { Progress } from '../../elements/telling/Progress.js';
import { useTitle } from '../../elements/telling/title.js';
import { neighboursOf } from '../../queue/neighbours.js';
import { type Place, usePlace } from '../../queue/place.js';
import { useQueue } from '../../queue/QueueProvider.js';
import type { ReviewListState } from '../../queue/use-review-list.js';
import type { Desk } from '../../review/desk.js';
import { summaryOf, templateNameOf } from '../../review/summary.js';
import { useSession } from '../../session/session-context.js';
import { ReviewDesk } from './ReviewDesk.js';
import { useReview } from './use-review.js';

export function ReviewScreen({ id }: { id: string }) {
  const loaded = useReview(id);
  const { desk, error, reload } = loaded;
  const [, go] = useLocation();
  const queue = useQueue();
  const { items } = queue;
  const ids = items.map((review) => review.id);
  const last = useRef(ids);
  if (ids.includes(id)) last.current = ids;
  const neighbours = neighboursOf(ids, id, last.current);
  useWayOn(queue, neighbours.place);
  const goTo = (path: string | null) => (path === null ? undefined : () => go(path));
  const pathTo = (review: string | null) => (review === null ? null : `/reviews/${review}`);
  const { list } = usePlaceOf(id, neighbours.next);
  useKeys({ escape: goTo(list), j: goTo(pathTo(neighbours.next)), k: goTo(pathTo(neighbours.previous)) });
  useTitle(desk === null ? 'Review' : `${summaryOf(desk.shown).title} · ${templateNameOf(desk.shown)}`);
  useOwnProject(desk);

  return (
    <div className="review">
      <nav className="review-way" aria-label="Review navigation">
        <Link href={list} className="button button-quiet">
          ← Inbox
        </Link>
        <span className="review-place muted">{placeInWords(queue, neighbours.place, desk)}</span>
        {neighbours.previous === null && neighbours.next === null ? null : (
          <>
            <Step label="Previous" to={neighbours.previous} />
            <Step label="Next" to={neighbours.next} />
          </>
        )}
      </nav>
      {desk !== null ? (
        <>
          {error ? (
            <Banner
              tone="warning"
              title="This review may be out of date"
              actions={
                <button type="button" className="button" onClick={reload}>
                  Try again
                </button>
              }
            >
              {sentenceOf(error)}
            </Banner>
          ) : null}
          <ReviewDesk desk={desk} change={loaded.change} reload={reload} next={neighbours.next} />
        </>
      ) : error ? (
        <NotShown error={error} reload={reload} />
      ) : (
        <Progress label="Loading the review…" />
      )}
    </div>
  );
}

/** Leaves word of where the person is, for the list they go back to. */
function usePlaceOf(id: string, next: string | null): Place {
  const place = usePlace();
  useEffect(() => {
    place.current.reviews = next === null ? [id] : [id, next];
  }, [place, id, next]);
  return place.current;
}

/** Where in the queue the review stands; the queue is counted by the server, and read page by page. */
function placeInWords({ items, total, capped, hasMore }: ReviewListState, place: number | null, desk: Desk | null): string {
  if (place !== null) return `${place} of ${total}${capped ? '+' : ''} to decide`;
  return hasMore && desk?.shown.status === 'pending' ? `Not among the first ${items.length} to decide` : '';
}

/** At the last review that was read of a longer queue, reads on, so that there is a next one. */
function useWayOn({ items, hasMore, loadMore }: ReviewListState, place: number | null): void {
  const atEnd = hasMore && place === items.length;
  const more = useRef(loadMore);
  more.current = loadMore;
  useEffect(() => {
    if (atEnd) more.current();
  }, [atEnd]);
}

function Step({ label, to }: { label: string; to: string | null }) {
  if (to === null) {
    return (
      <span className="button button-quiet button-off" aria-hidden="true">
        {label}
      </span>
    );
  }
  return (
    <Link href={`/reviews/${to}`} className="button button-quiet">
      {label}
    </Link>
  );
}

function NotShown({ error, reload }: { error: unknown; reload: () => void }) {
  const code = error instanceof Refused ? error.code : null;
  if (code === 'review_not_found' || code === 'validation_failed' || code === 'route_not_found') {
    return (
      <EmptyState
        whole
        title="Review not found"
        actions={
          <Link href="/" className="button button-primary">
            Back to the inbox
          </Link>
        }
      >
        <p>It may belong to a project you are not a member of, or the URL may be incomplete.</p>
      </EmptyState>
    );
  }
  const forbidden = error instanceof Refused && error.status === 403;
  return (
    <EmptyState
      whole
      title={forbidden ? 'You do not have access to this review' : 'The review could not be loaded'}
      actions={
        <button type="button" className="button button-primary" onClick={reload}>
          Try again
        </button>
      }
    >
      <p role="alert">{sentenceOf(error)}</p>
    </EmptyState>
  );
}

/** A review opened by its address brings its project with it. */
function useOwnProject(desk: Desk | null): void {
  const { me, project, chooseProject } = useSession();
  const told = useRef(false);
  const own = desk?.shown.project_id;
  useEffect(() => {
    if (told.current || own === undefined || own === project.id || !me.projects.some(({ id }) => id === own)) return;
    told.current = true;
    chooseProject(own);
  }, [own, project.id, me.projects, chooseProject]);
}

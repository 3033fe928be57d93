import type { ReviewListQuery, ReviewStatus } from '@countersign/contracts';
import { type RefObject, useEffect, useRef } from 'react';
import { Link, useSearch } from 'wouter';
import { sentenceOf } from '../../api/failure.js';
import { isFocusLost } from '../../elements/focus.js';
import { useKeys } from '../../elements/keys.js';
import { Banner } from '../../elements/telling/Banner.js';
import { EmptyState } from '../../elements/telling/EmptyState.js';
import { useTitle } from '../../elements/telling/title.js';
import { usePlace } from '../../queue/place.js';
import { useQueue } from '../../queue/QueueProvider.js';
import { type ReviewListState, useReviewList } from '../../queue/use-review-list.js';
import { useSession } from '../../session/session-context.js';
import { ReviewRow } from './ReviewRow.js';
import { useArrivals } from './use-arrivals.js';
import { useStrip } from './use-strip.js';

const TABS = [
  { status: 'pending', label: 'To decide' },
  { status: 'awaiting_iteration', label: 'Waiting for the agent' },
  // Of what is over somebody looks for what just happened.
  { status: 'decided', label: 'Decided', sort: 'settled_at' },
  { status: 'expired', label: 'Expired or withdrawn', sort: 'settled_at' },
  { status: 'archived', label: 'Archived', sort: 'settled_at' },
] as const satisfies { status: ReviewStatus; label: string; sort?: ReviewListQuery['sort'] }[];

type Tab = (typeof TABS)[number];

export function InboxScreen() {
  const { project } = useSession();
  const asked = new URLSearchParams(useSearch()).get('status');
  const tab: Tab = TABS.find(({ status }) => status === asked) ?? TABS[0];
  const { total } = useQueue();
  usePlaceOfList(addressOf(tab));
  useTitle(tab.status === 'pending' ? (total > 0 ? `(${total}) Inbox` : 'Inbox') : tab.label);
  return (
    <div className="inbox">
      <h1 className="visually-hidden">Inbox of {project.name}</h1>
      <Tabs current={tab} />
      {tab.status === 'pending' ? <Queue /> : <OtherList key={tab.status} tab={tab} />}
    </div>
  );
}

const addressOf = ({ status }: Tab): string => (status === 'pending' ? '/' : `/?status=${status}`);

function Tabs({ current }: { current: Tab }) {
  const { total, capped, phase } = useQueue();
  const strip = useStrip(`${current.status} ${phase}`);
  return (
    <nav className="tabs" aria-label="Reviews" {...strip}>
      {TABS.map((tab) => (
        <Link key={tab.status} href={addressOf(tab)} className="tab" aria-current={tab.status === current.status ? 'page' : undefined}>
          {tab.label}
          {tab.status === 'pending' && phase === 'ready' ? (
            <span className="tab-count">
              {total}
              {capped ? '+' : ''}
            </span>
          ) : null}
        </Link>
      ))}
    </nav>
  );
}

function Queue() {
  const list = useQueue();
  const arrived = useArrivals(list);
  return <Reviews list={list} label="To decide" arrived={arrived} empty={<EmptyQueue />} />;
}

function OtherList({ tab }: { tab: Tab }) {
  return <Reviews list={useReviewList(tab)} label={tab.label} empty={<EmptyState title="No reviews" />} />;
}

function EmptyQueue() {
  return (
    <EmptyState title="No open reviews">
      <p>New review requests appear here automatically.</p>
    </EmptyState>
  );
}

interface ReviewsProps {
  list: ReviewListState;
  label: string;
  arrived?: ReadonlySet<string>;
  empty: React.ReactNode;
}

const NONE: ReadonlySet<string> = new Set();

function Reviews({ list, label, arrived = NONE, empty }: ReviewsProps) {
  const rows = useRef<HTMLOListElement>(null);
  const move = (by: 1 | -1) => () => {
    const links = [...(rows.current?.querySelectorAll<HTMLAnchorElement>('a.row') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
  useReturn(rows, list.phase);
  const { button, loadMore } = useReadOn(rows, list);
  useKeys({ j: move(1), arrowdown: move(1), k: move(-1), arrowup: move(-1) });

  if (list.phase === 'loading') return <Skeleton label={label} />;
  return (
    <>
      {list.error ? <Failed list={list} /> : null}
      {list.items.length > 0 ? (
        <ol className="rows" aria-label={label} ref={rows}>
          {list.items.map((review) => (
            <li key={review.id}>
              <ReviewRow review={review} arrived={arrived.has(review.id)} />
            </li>
          ))}
        </ol>
      ) : list.error ? null : (
        empty
      )}
      {list.hasMore ? (
        <div className="more">
          <span className="muted">
            {list.items.length} of {list.total}
            {list.capped ? '+' : ''}
          </span>
          <button type="button" className="button" ref={button} onClick={loadMore} disabled={list.loadingMore}>
            {list.loadingMore ? 'Loading…' : 'Show more'}
          </button>
        </div>
      ) : null}
    </>
  );
}

/** Who comes back from a review finds its row as they left it; where it is gone, the one after it. */
function useReturn(rows: RefObject<HTMLOListElement | null>, phase: ReviewListState['phase']): void {
  const place = usePlace();
  useEffect(() => {
    if (phase === 'loading') return;
    const left = place.current.reviews;
    place.current.reviews = [];
    if (!isFocusLost()) return;
    const row = left.map((id) => rows.current?.querySelector<HTMLElement>(`a[href="/reviews/${id}"]`)).find((found) => found);
    row?.focus();
  }, [rows, phase, place]);
}

/** Who asks for more reads on at the first of them; where none came, they may ask again. */
function useReadOn(rows: RefObject<HTMLOListElement | null>, { items, hasMore, error, loadingMore, loadMore }: ReviewListState) {
  const button = useRef<HTMLButtonElement>(null);
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (last.current === null || loadingMore) return;
    const next = items[items.findIndex(({ id }) => id === last.current) + 1];
    // A load that was under way already brought none of them.
    if (next === undefined && hasMore && !error) return;
    last.current = null;
    // The button is off while it loads, which takes the focus from it. Somebody who went elsewhere meanwhile stays there.
    if (!isFocusLost() && document.activeElement !== button.current) return;
    const row = next && rows.current?.querySelector<HTMLElement>(`a[href="/reviews/${next.id}"]`);
    (row ?? button.current)?.focus();
  }, [rows, items, hasMore, error, loadingMore]);
  return {
    button,
    loadMore: () => {
      last.current = items.at(-1)?.id ?? null;
      loadMore();
    },
  };
}

function usePlaceOfList(list: string): void {
  const place = usePlace();
  useEffect(() => {
    place.current.list = list;
    place.current.begun = true;
  }, [place, list]);
}

function Failed({ list }: { list: ReviewListState }) {
  return (
    <Banner
      tone="warning"
      title={list.items.length > 0 ? 'This list may be out of date' : 'The list could not be loaded'}
      actions={
        <button type="button" className="button" onClick={list.reload}>
          Try again
        </button>
      }
    >
      {sentenceOf(list.error)}
    </Banner>
  );
}

const PLACES = ['a', 'b', 'c', 'd', 'e'];

function Skeleton({ label }: { label: string }) {
  return (
    <div className="rows" role="status">
      <span className="visually-hidden">Loading {label}…</span>
      {PLACES.map((place) => (
        <div key={place} className="row row-skeleton" aria-hidden="true">
          <span className="bone bone-title" />
          <span className="bone bone-line" />
        </div>
      ))}
    </div>
  );
}

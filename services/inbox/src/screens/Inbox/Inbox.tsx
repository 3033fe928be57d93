import type { ReviewStatus } from '@countersign/contracts';
import { useRef } from 'react';
import { Link, useSearch } from 'wouter';
import { sentenceOf } from '../../api/failure.js';
import { Banner } from '../../elements/Banner.js';
import { EmptyState } from '../../elements/EmptyState.js';
import { useKeys } from '../../elements/keys.js';
import { useTitle } from '../../elements/title.js';
import { useQueue } from '../../queue/QueueProvider.js';
import { type ReviewListState, useReviewList } from '../../queue/use-review-list.js';
import { useSession } from '../../session/session-context.js';
import { ReviewRow } from './ReviewRow.js';
import { useArrivals } from './use-arrivals.js';

const TABS = [
  { status: 'pending', label: 'To decide' },
  { status: 'awaiting_iteration', label: 'With the agent' },
  { status: 'decided', label: 'Decided' },
  { status: 'expired', label: 'Expired' },
  { status: 'archived', label: 'Archived' },
] as const satisfies { status: ReviewStatus; label: string }[];

type Tab = (typeof TABS)[number];

export function InboxScreen() {
  const { project } = useSession();
  const asked = new URLSearchParams(useSearch()).get('status');
  const tab: Tab = TABS.find(({ status }) => status === asked) ?? TABS[0];
  const { total } = useQueue();
  useTitle(tab.status === 'pending' ? (total > 0 ? `(${total}) Inbox` : 'Inbox') : tab.label);
  return (
    <div className="inbox">
      <h1 className="visually-hidden">Inbox of {project.name}</h1>
      <Tabs current={tab} />
      {tab.status === 'pending' ? <Queue /> : <OtherList key={tab.status} tab={tab} />}
    </div>
  );
}

function Tabs({ current }: { current: Tab }) {
  const { total, capped, phase } = useQueue();
  return (
    <nav className="tabs" aria-label="Reviews">
      {TABS.map(({ status, label }) => (
        <Link
          key={status}
          href={status === 'pending' ? '/' : `/?status=${status}`}
          className="tab"
          aria-current={status === current.status ? 'page' : undefined}
        >
          {label}
          {status === 'pending' && phase === 'ready' ? (
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
  return <Reviews list={useReviewList({ status: tab.status })} label={tab.label} empty={<EmptyState title="No reviews" />} />;
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
          <button type="button" className="button" onClick={list.loadMore} disabled={list.loadingMore}>
            {list.loadingMore ? 'Loading…' : 'Show more'}
          </button>
        </div>
      ) : null}
    </>
  );
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

import { Link } from 'wouter';
import { EmptyState } from '../../elements/EmptyState.js';
import { useTitle } from '../../elements/title.js';

export function NotFoundScreen() {
  useTitle('Not found');
  return (
    <EmptyState
      title="There is no such page"
      actions={
        <Link href="/" className="button button-primary">
          To the inbox
        </Link>
      }
    />
  );
}

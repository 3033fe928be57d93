import { Link } from 'wouter';
import { EmptyState } from '../../elements/EmptyState.js';
import { useTitle } from '../../elements/title.js';

export function NotFoundScreen() {
  useTitle('Not found');
  return (
    <EmptyState
      title="Page not found"
      actions={
        <Link href="/" className="button button-primary">
          Back to the inbox
        </Link>
      }
    />
  );
}

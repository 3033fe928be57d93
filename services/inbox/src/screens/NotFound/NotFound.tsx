import { Link } from 'wouter';
import { EmptyState } from '../../elements/telling/EmptyState.js';
import { useTitle } from '../../elements/telling/title.js';

export function NotFoundScreen() {
  useTitle('Not found');
  return (
    <EmptyState
      whole
      title="Page not found"
      actions={
        <Link href="/" className="button button-primary">
          Back to the inbox
        </Link>
      }
    />
  );
}

import { Component, type ReactNode } from 'react';
import { EmptyState } from './EmptyState.js';

/** A fault of the page takes the screen with it and nothing else: what was typed is kept in the tab. */
export class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <EmptyState
        whole
        title="Something went wrong"
        actions={
          <button type="button" className="button button-primary" onClick={() => location.reload()}>
            Reload
          </button>
        }
      >
        <p role="alert">Try reloading the page. Your input is kept.</p>
      </EmptyState>
    );
  }
}

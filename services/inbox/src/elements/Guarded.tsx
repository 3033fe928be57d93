import { Component, type ReactNode } from 'react';

/** What cannot be drawn is shown otherwise. */
export class Guarded extends Component<
  { otherwise: (error: unknown) => ReactNode; children: ReactNode },
  { failure: { error: unknown } | null }
> {
  override state: { failure: { error: unknown } | null } = { failure: null };

  static getDerivedStateFromError(error: unknown): { failure: { error: unknown } } {
    return { failure: { error } };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    return failure === null ? this.props.children : this.props.otherwise(failure.error);
  }
}

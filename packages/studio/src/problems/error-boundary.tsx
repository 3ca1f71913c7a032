import { Component, type ReactNode } from 'react';
import { Problem } from './problem.tsx';

/** Shows an error of the page itself instead of an empty window. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const suggestion = 'Reload the page. The swarm is not affected; please report what you did.';
    return <Problem error={{ message: `An error in the page: ${error.message}`, suggestion }} isWhole />;
  }
}

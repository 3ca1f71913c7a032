import { useCallback, useSyncExternalStore } from 'react';
import { readRoute, type Route, writeRoute } from './route.ts';

export type GoTo = (route: Route, options?: { readonly replace?: boolean }) => void;

/** Returns the shown view, and a function to show another. `replace`: without a step for the back button. */
export function useRoute(): [Route, GoTo] {
  const hash = useSyncExternalStore(listen, () => window.location.hash);
  const goTo = useCallback<GoTo>((route, { replace = false } = {}) => {
    const address = writeRoute(route);
    // An equal address must not become a step for the back button.
    if (address === window.location.hash) return;
    if (replace) window.history.replaceState(null, '', address);
    else window.history.pushState(null, '', address);
    // The browser reports only changes by links and the back button.
    window.dispatchEvent(new HashChangeEvent('hashchange'));
  }, []);
  return [readRoute(hash), goTo];
}

function listen(onChange: () => void): () => void {
  window.addEventListener('hashchange', onChange);
  window.addEventListener('popstate', onChange);
  return () => {
    window.removeEventListener('hashchange', onChange);
    window.removeEventListener('popstate', onChange);
  };
}

import { useCallback, useSyncExternalStore } from 'react';
import { readRoute, type Route, writeRoute } from './route.ts';

export type GoTo = (route: Route, options?: { readonly replace?: boolean }) => void;

/**
 * Returns the current view, and a function that shows another view. `replace`: does not add an entry to the browser's
 * history.
 */
export function useRoute(): [Route, GoTo] {
  const hash = useSyncExternalStore(listen, () => window.location.hash);
  const goTo = useCallback<GoTo>((route, { replace = false } = {}) => {
    const address = writeRoute(route);
    // The address is unchanged, so nothing is added to the browser's history.
    if (address === window.location.hash) return;
    if (replace) window.history.replaceState(null, '', address);
    else window.history.pushState(null, '', address);
    // Reports the change, because the browser itself reports only links and the back button.
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

import { useCallback, useSyncExternalStore } from 'react';
import { readRoute, type Route, writeRoute } from './route.ts';

export type GoTo = (route: Route, options?: { readonly replace?: boolean }) => void;

/** What is shown, and the way to show something else. `replace`: without a step for the back button. */
export function useRoute(): [Route, GoTo] {
  const hash = useSyncExternalStore(listen, () => window.location.hash);
  const goTo = useCallback<GoTo>((route, { replace = false } = {}) => {
    const address = writeRoute(route);
    // No step for the back button that leads nowhere.
    if (address === window.location.hash) return;
    if (replace) window.history.replaceState(null, '', address);
    else window.history.pushState(null, '', address);
    // The browser tells of changes by links and the back button only.
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

import type { RouteChange } from '../route/route.ts';

/** Which conversation the page is about. */
export interface ShownConversation {
  readonly agent: string;
  readonly key: string;
}

/** Shows something else. `replace`: without a step for the back button. */
export type Show = (change: RouteChange, replace?: boolean) => void;

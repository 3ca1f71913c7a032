import type { ConversationStore } from '../agent/conversation/conversation-store.ts';

export interface MortalStore extends ConversationStore {
  isDead(): boolean;
}

/** Creates a store that works until the n-th append. Every later append fails, as if the process were dead. */
export function mortalStore(inner: ConversationStore, appends: number): MortalStore {
  let left = appends;
  const live = <Value>(action: () => Promise<Value>) =>
    left <= 0 ? Promise.reject(new Error('the process is gone')) : action();
  return {
    ...inner,
    isDead: () => left <= 0,
    append: (...args) => {
      left--;
      return live(() => inner.append(...args));
    },
    commit: (...args) => live(() => inner.commit(...args)),
  };
}

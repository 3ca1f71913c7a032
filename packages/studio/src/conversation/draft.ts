/** Unsent texts, by conversation: they survive a visit elsewhere, and disappear with the tab. */
const KEPT_AS = 'goondan.studio.draft';
/** Longer ones are not kept, because a browser has little room for this. */
const LONGEST = 50_000;

export function readDraft(conversation: string): string {
  try {
    return sessionStorage.getItem(`${KEPT_AS} ${conversation}`) ?? '';
  } catch {
    return '';
  }
}

export function keepDraft(conversation: string, text: string): void {
  try {
    if (text === '' || text.length > LONGEST) sessionStorage.removeItem(`${KEPT_AS} ${conversation}`);
    else sessionStorage.setItem(`${KEPT_AS} ${conversation}`, text);
  } catch {
    // The browser stores nothing, or its storage is full.
  }
}

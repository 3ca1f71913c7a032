/**
 * Stores unsent texts by conversation. They are kept when another view is opened, and deleted when the tab is closed.
 */
const KEPT_AS = 'goondan.studio.draft';
/** The maximum length of a stored text, because browsers limit the size of this storage. */
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
    // The browser does not allow storage, or its storage is full.
  }
}

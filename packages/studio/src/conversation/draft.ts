/** What was written and not sent, by conversation: there again after a look elsewhere, gone with the tab. */
const KEPT_AS = 'goondan.studio.draft';
/** Longer ones are not kept: a browser has little room for this. */
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
    // A browser that keeps nothing, or is full.
  }
}

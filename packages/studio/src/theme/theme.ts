/** Light or dark: what a person chose in this browser, else what the system says, also when that changes. */

export type Theme = 'light' | 'dark';

const KEPT_AS = 'goondan.studio.theme';
const darkSystem = matchMedia('(prefers-color-scheme: dark)');

export function startTheme(): void {
  applyTheme(chosenTheme() ?? systemTheme());
  darkSystem.addEventListener('change', () => applyTheme(chosenTheme() ?? systemTheme()));
}

/** From light to dark, or back. */
export function changeTheme(): void {
  const theme = document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark';
  applyTheme(theme);
  try {
    localStorage.setItem(KEPT_AS, theme);
  } catch {
    // A browser that keeps nothing: it is so until the page is closed.
  }
}

function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}

function systemTheme(): Theme {
  return darkSystem.matches ? 'dark' : 'light';
}

function chosenTheme(): Theme | undefined {
  try {
    const kept = localStorage.getItem(KEPT_AS);
    return kept === 'light' || kept === 'dark' ? kept : undefined;
  } catch {
    return undefined;
  }
}

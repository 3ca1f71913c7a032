/** The theme, light or dark: the person's choice in this browser, or else the system's setting, which may change. */

export type Theme = 'light' | 'dark';

const KEPT_AS = 'goondan.studio.theme';
const darkSystem = matchMedia('(prefers-color-scheme: dark)');

export function startTheme(): void {
  applyTheme(chosenTheme() ?? systemTheme());
  darkSystem.addEventListener('change', () => applyTheme(chosenTheme() ?? systemTheme()));
}

/** Switches between light and dark. */
export function changeTheme(): void {
  const theme = document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark';
  applyTheme(theme);
  try {
    localStorage.setItem(KEPT_AS, theme);
  } catch {
    // The browser does not allow storage, so the choice lasts until the page is closed.
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

/** The measured numbers of a run, by name: `section.what`. The table of targets reads them. */
export type Figures = Readonly<Record<string, number>>;

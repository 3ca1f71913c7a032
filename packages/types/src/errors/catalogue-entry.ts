export interface CatalogueEntry {
  /** When it is reported. */
  readonly meaning: string;
  /** What the reader should do. */
  readonly suggestion: string;
}

export interface CatalogueEntry {
  /** The cause of the error. */
  readonly meaning: string;
  /** The advice for the reader. */
  readonly suggestion: string;
}

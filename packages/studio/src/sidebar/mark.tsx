/** The logo: an onion, cut through. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="10.5" />
      <circle cx="12" cy="12" r="6.8" />
      <circle cx="12" cy="12" r="3" className="mark-core" />
    </svg>
  );
}

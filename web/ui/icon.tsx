/** Decoration beside a word; screen readers skip it. */
export const Icon = ({ path, size = 18 }: { path: string; size?: number }) => (
  <svg
    class="glyph"
    width={size}
    height={size}
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    stroke-width="1.6"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={path} />
  </svg>
)

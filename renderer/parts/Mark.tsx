// Hearth's sign: an arch with a flame in it.
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <path
        d="M6 27V16a10 10 0 0 1 20 0v11"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
      <path
        className="mark-flame"
        d="M16 12.400c3.300 3 5 5.600 5 8.300A5 5 0 0 1 16 26a5 5 0 0 1-5-5.300c0-2.700 1.700-5.300 5-8.300Z"
      />
    </svg>
  );
}

import type { JSX } from 'solid-js'

const [WIDTH, HEIGHT] = [300, 40]

/** The course of a value, from zero to its largest. */
export function Sparkline(props: {
  readonly values: readonly number[]
  readonly label: string
}): JSX.Element {
  const points = (): string => {
    const most = Math.max(1, ...props.values)
    const step = WIDTH / Math.max(1, props.values.length - 1)
    return props.values
      .map((value, at) => `${at * step},${HEIGHT - (value / most) * (HEIGHT - 2) - 1}`)
      .join(' ')
  }
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={props.label}
    >
      <polyline points={points()} />
    </svg>
  )
}

import { useEffect, useRef, useState } from 'preact/hooks'
import { number } from '../lib/format.ts'
import { Scroll } from './scroll.tsx'
import { t } from './words.ts'

export interface Series {
  name: string
  /** The token of its colour. */
  tone: 'accent' | 'good' | 'warn' | 'bad'
  values: readonly number[]
}

interface Props {
  title: string
  /** The words of the points in time, oldest first. */
  labels: readonly string[]
  series: readonly Series[]
  height?: number
  show?: (value: number) => string
}

const LEFT = 48
const RIGHT = 10
const BOTTOM = 22
const TOP = 8
const LABEL_WIDTH = 90
const DASHES = [undefined, '6 4', '2 3', '10 4 2 4']

/**
 * Lines over time in SVG. The colours are tokens, so both themes apply; the arrow keys read single
 * points, and the figures are there as a table.
 */
export function Chart({ title, labels, series, height = 220, show = number }: Props) {
  const figure = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(720)
  const [at, setAt] = useState<number>()
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0))
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(240, Math.floor(entry.contentRect.width)))
    })
    if (figure.current) observer.observe(figure.current)
    return () => observer.disconnect()
  }, [isEmpty])

  const last = labels.length - 1
  const within = (index: number) => Math.min(last, Math.max(0, index))
  const reading = (index: number) =>
    `${labels[index] ?? ''}: ${series.map(({ name, values }) => `${name} ${show(values[index] ?? 0)}`).join(', ')}`
  const point = (event: PointerEvent) => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect()
    setAt(within(Math.round(((event.clientX - left - LEFT) / (width - LEFT - RIGHT)) * last)))
  }
  const move = (event: KeyboardEvent) => {
    const to = {
      ArrowLeft: (at ?? labels.length) - 1,
      ArrowRight: (at ?? -1) + 1,
      Home: 0,
      End: last,
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setAt(within(to))
  }
  if (isEmpty) {
    return <p class="empty muted">{t.noFigures}</p>
  }
  return (
    <figure class="chart" ref={figure}>
      <ul class="legend" aria-hidden="true">
        {series.map(({ name, tone }) => (
          <li key={name} class={tone}>
            {name}
          </li>
        ))}
      </ul>
      <div
        class="plot"
        tabIndex={0}
        role="slider"
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={at ?? Math.max(0, last)}
        aria-valuetext={reading(at ?? last)}
        onPointerMove={point}
        onPointerLeave={() => setAt(undefined)}
        onKeyDown={move}
        onBlur={() => setAt(undefined)}
      >
        <Lines {...{ labels, series, width, height, at, show }} />
      </div>
      <p class="reading" aria-hidden="true">
        {at === undefined ? '\u00a0' : reading(at)}
      </p>
      <FigureTable {...{ title, labels, series, show }} />
    </figure>
  )
}

interface LinesProps {
  labels: readonly string[]
  series: readonly Series[]
  width: number
  height: number
  at: number | undefined
  show(value: number): string
}

function Lines({ labels, series, width, height, at, show }: LinesProps) {
  const ticks = niceTicks(Math.max(1, ...series.flatMap(({ values }) => values)))
  const top = ticks.at(-1) ?? 1
  const x = (index: number) =>
    LEFT + (index / Math.max(1, labels.length - 1)) * (width - LEFT - RIGHT)
  const y = (value: number) => TOP + (1 - value / top) * (height - TOP - BOTTOM)
  const step = Math.max(1, Math.ceil(labels.length / Math.max(1, Math.floor(width / LABEL_WIDTH))))
  return (
    <svg width={width} height={height} aria-hidden="true">
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
          <text class="axis" x={LEFT - 8} y={y(tick)} dy="0.32em" text-anchor="end">
            {show(tick)}
          </text>
        </g>
      ))}
      {labels.map(
        (label, index) =>
          index % step === 0 && (
            <text
              key={index}
              class="axis"
              x={x(index)}
              y={height - 4}
              text-anchor={index === 0 ? 'start' : x(index) > width - 40 ? 'end' : 'middle'}
            >
              {label}
            </text>
          ),
      )}
      {series.map(({ name, tone, values }, order) => (
        <polyline
          key={name}
          class={`line ${tone}`}
          stroke-dasharray={DASHES[order % DASHES.length]}
          points={values
            .map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`)
            .join(' ')}
        />
      ))}
      {at !== undefined && (
        <>
          <line class="cursor" x1={x(at)} x2={x(at)} y1={TOP} y2={height - BOTTOM} />
          {series.map(({ name, tone, values }) => (
            <circle key={name} class={`dot ${tone}`} cx={x(at)} cy={y(values[at] ?? 0)} r="4" />
          ))}
        </>
      )}
    </svg>
  )
}

function FigureTable({
  title,
  labels,
  series,
  show,
}: Pick<LinesProps, 'labels' | 'series' | 'show'> & { title: string }) {
  // A year of rows takes long to render, so they are rendered when the table is opened.
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.showTable}</summary>
      {open && (
        <Scroll label={title}>
          <table>
            <caption class="hidden">{title}</caption>
            <thead>
              <tr>
                <th scope="col">{t.when}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {labels.map((label, index) => (
                <tr key={index}>
                  <th scope="row">{label}</th>
                  {series.map(({ name, values }) => (
                    <td key={name} class="number">
                      {show(values[index] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </details>
  )
}

/** About five round values from 0 to at least `max`. */
export function niceTicks(max: number): number[] {
  const raw = max / 4
  const size = 10 ** Math.floor(Math.log10(raw))
  const step = Math.max(1, ([1, 2, 2.5, 5, 10].find((one) => one * size >= raw) ?? 10) * size)
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, index) => index * step)
}

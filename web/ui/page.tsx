import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { productName } from '../lib/brand.ts'
import * as format from '../lib/format.ts'
import { visible } from '../lib/visible.ts'
import { t } from './words.ts'

/** The only h1 of a screen; it is the title of the document too. */
export function Heading({
  title,
  parent,
  badge,
  children,
}: {
  title: string
  /** The list that a detail screen belongs to. */
  parent?: { title: string; to: string }
  badge?: ComponentChildren
  /** Buttons. */
  children?: ComponentChildren
}) {
  useEffect(() => {
    document.title = `${visible(title)} · ${productName()}`
  }, [title])
  return (
    <div class="head">
      <div>
        {parent && (
          <p class="crumbs">
            <a href={parent.to}>{parent.title}</a>
          </p>
        )}
        <div class="title">
          <h1>
            <Text>{title}</Text>
          </h1>
          {badge}
        </div>
      </div>
      <div class="actions">{children}</div>
    </div>
  )
}

/** Text that people typed: isolated from the text around it, without invisible characters. */
export const Text = ({ children }: { children: string | null | undefined }) => (
  <bdi>{visible(children ?? '')}</bdi>
)

export type Tone = '' | 'good' | 'warn' | 'bad' | 'info'

export const Badge = ({ tone = '', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

const FORMS = { relative: format.relative, date: format.date, dateTime: format.dateTime }

/** A time in the reader's zone; the tooltip has it in full, with UTC. */
export const Time = ({
  iso,
  form = 'relative',
}: {
  iso: string | null | undefined
  form?: keyof typeof FORMS
}) =>
  iso ? (
    <time dateTime={iso} title={format.fullTime(iso)}>
      {FORMS[form](iso)}
    </time>
  ) : (
    <span class="muted">{t.never}</span>
  )

export const Bytes = ({ value }: { value: number }) => (
  <span class="figure">{format.bytes(value)}</span>
)

/** The used part of a limit. A limit of 0 is none. */
export const Usage = ({
  used,
  limit,
  label,
  show = format.bytes,
}: {
  used: number
  limit: number
  /** The name of the measured value, for screen readers. */
  label: string
  show?: (value: number) => string
}) => (
  <span class="usage">
    {limit > 0 && (
      <meter
        min={0}
        max={limit}
        value={Math.min(used, limit)}
        low={limit * 0.8}
        high={limit * 0.95}
        optimum={0}
        aria-label={label}
      />
    )}
    <span class="figure">
      {show(used)} <span class="muted">{limit > 0 ? `/ ${show(limit)}` : t.noLimit}</span>
    </span>
  </span>
)

export function Card({
  title,
  actions,
  children,
  flush = false,
}: {
  title?: string
  actions?: ComponentChildren
  children: ComponentChildren
  /** The content reaches the edges, e.g. a table. */
  flush?: boolean
}) {
  return (
    <section class="card">
      {title && (
        <header>
          <h2>{title}</h2>
          <div class="actions">{actions}</div>
        </header>
      )}
      <div class={flush ? '' : 'pad'}>{children}</div>
    </section>
  )
}

/** Key figures. A figure with `to` is a link to where it comes from. */
export const Facts = ({
  facts,
}: {
  facts: readonly {
    name: string
    value: ComponentChildren
    note?: ComponentChildren
    to?: string | undefined
    tone?: Tone
  }[]
}) => (
  <dl class="facts">
    {facts.map(({ name, value, note, to, tone = '' }) => (
      <div key={name} class={tone}>
        <dt>{name}</dt>
        <dd>
          {to ? <a href={to}>{value}</a> : value}
          {note && <small>{note}</small>}
        </dd>
      </div>
    ))}
  </dl>
)

/** Says what belongs here and offers the first step. */
export const Empty = ({
  title,
  children,
  action,
}: {
  title: string
  children?: ComponentChildren
  action?: ComponentChildren
}) => (
  <div class="empty">
    <h2>{title}</h2>
    {children && <p class="muted">{children}</p>}
    {action}
  </div>
)

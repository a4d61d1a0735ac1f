import { locale, remembered } from './language.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Powers of 1024, because quotas are given in them: 1 GiB reads as 1 and not as 1.1. */
export function bytes(value: number): string {
  const step = value < 1 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), UNITS.length - 1)
  const shown = value / 1024 ** step
  const maximumFractionDigits = shown < 10 && step > 0 ? 1 : 0
  return `${new Intl.NumberFormat(locale, { maximumFractionDigits }).format(shown)} ${UNITS[step]}`
}

export const number = (value: number): string => new Intl.NumberFormat(locale).format(value)

/** A share of 1. */
export const percent = (share: number): string =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(share)

/** The zone of the browser, or UTC where the person chose it in the account menu. */
export const timeZone = (): string =>
  remembered('zone') === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone

export const date = (iso: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: timeZone() }).format(
    new Date(iso),
  )

/** A calendar day such as `2026-11-15`, the same in every zone. */
export const day = (date: string): string =>
  new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(date),
  )

export const dateTime = (iso: string): string =>
  new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: timeZone(),
  }).format(new Date(iso))

export const hour = (iso: string): string =>
  new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    timeZone: timeZone(),
  }).format(new Date(iso))

/** With seconds, for log lines and timelines. */
export const time = (iso: string): string =>
  new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone: timeZone(),
  }).format(new Date(iso))

/** Both zones, for the tooltip of a time. */
export function fullTime(iso: string): string {
  const inZone = (zone: string) =>
    new Intl.DateTimeFormat(locale, {
      dateStyle: 'full',
      timeStyle: 'long',
      timeZone: zone,
    }).format(new Date(iso))
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return own === 'UTC' ? inZone('UTC') : `${inZone(own)}\n${inZone('UTC')}`
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** "3 days ago", "in 2 hours". */
export function relative(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(
    Math.round(seconds / size),
    unit,
  )
}

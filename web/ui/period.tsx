import { useQueryState } from '../lib/router.tsx'
import { t } from './words.ts'

const DAYS = [7, 30, 90, 365]

/** The number of days that a screen shows, from the URL. */
export function useDays(options: readonly number[] = DAYS) {
  const [{ days }, change] = useQueryState('days')
  return {
    days: options.find((one) => String(one) === days) ?? 30,
    options,
    change: (value: string) => change({ days: value }),
  }
}

interface Props extends ReturnType<typeof useDays> {
  small?: boolean
}

export const Period = ({ days, options, change, small = false }: Props) => (
  <select
    class={small ? 'small' : undefined}
    aria-label={t.period}
    value={String(days)}
    onChange={(event) => change(event.currentTarget.value)}
  >
    {options.map((one) => (
      <option key={one} value={one}>
        {t.lastDays(one)}
      </option>
    ))}
  </select>
)

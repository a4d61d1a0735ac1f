import type { Client } from '../api/client.ts'
import type { PublicBrand } from '../api/schema.ts'

export interface Brand {
  name: string
  logo?: string | undefined
  fields?: PublicBrand['whitelabel']
}

export const OWN: Brand = { name: 'Mailplane' }

/** The brand of the organization whose white label names this host; its colour and its icon are applied. */
export async function brandOfHost(api: Client): Promise<Brand> {
  const { is_branded, whitelabel } = await api.get('/whitelabel/brand').catch(() => UNBRANDED)
  if (!is_branded) return OWN
  applyColour(whitelabel.primary_color)
  const icon = ofHttps(whitelabel.favicon_url)
  if (icon) document.querySelector('link[rel=icon]')?.setAttribute('href', icon)
  shownName = whitelabel.brand_name || OWN.name
  return {
    name: shownName,
    logo: ofHttps(whitelabel.logo_url),
    fields: whitelabel,
  }
}

let shownName = OWN.name
/** The name in the titles of the screens: that of the brand, once it was read. */
export const productName = (): string => shownName

/** The policy of the page loads pictures over https only. */
export const ofHttps = (url: string | null | undefined) =>
  url?.startsWith('https:') ? url : undefined

const UNBRANDED = { is_branded: false, whitelabel: {} as Record<string, never> }

/** Only hue and chroma follow the brand. The lightness stays, so that every brand is readable. */
export function applyColour(
  hex: string | null | undefined,
  { style } = document.documentElement,
): void {
  const colour = hex && hueAndChroma(hex)
  if (!colour) return
  style.setProperty('--accent-h', String(colour.hue))
  style.setProperty('--accent-c', String(Math.min(colour.chroma, 0.19)))
}

/** Hue and chroma in oklch of a colour like `#1e59cd`. */
export function hueAndChroma(hex: string): { hue: number; chroma: number } | undefined {
  const parts = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex)?.slice(1)
  if (!parts) return undefined
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    linear(Number.parseInt(part, 16) / 255),
  )
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s
  const b = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  const hue = (Math.atan2(b, a) * 180) / Math.PI
  return { hue: Math.round((hue + 360) % 360), chroma: Math.round(Math.hypot(a, b) * 1000) / 1000 }
}

/** From gamma-encoded sRGB to light. */
const linear = (value: number) =>
  value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4

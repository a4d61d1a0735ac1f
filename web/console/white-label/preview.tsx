import { useEffect, useRef } from 'preact/hooks'
import type { WhitelabelConfig } from '../../api/schema.ts'
import { applyColour, OWN } from '../../lib/brand.ts'
import { Icon } from '../../ui/icon.tsx'
import { mail } from '../../ui/icons.ts'
import { Card, Text } from '../../ui/page.tsx'
import { t as common } from '../../ui/words.ts'
import type { Draft } from './brand-form.tsx'
import { t } from './words.ts'

/** The sign-in page with the typed values, and the own page as it is stored. */
export const Preview = ({ config, draft }: { config: WhitelabelConfig; draft: Draft }) => (
  <div>
    <Card title={t.signIn}>
      <SignInSample draft={draft} />
    </Card>
    <Card title={t.frame} flush>
      <iframe
        class="preview"
        title={t.frame}
        sandbox=""
        src={`/api/v1/whitelabel/config/${encodeURIComponent(config.organization_id)}/preview/page`}
      />
    </Card>
  </div>
)

/** A picture of the page: its parts do nothing, so they are neither controls nor read out. */
function SignInSample({ draft }: { draft: Draft }) {
  const room = useRef<HTMLDivElement>(null)
  useEffect(() => {
    room.current?.removeAttribute('style')
    if (room.current) applyColour(draft.primary_color, room.current)
  }, [draft.primary_color])
  const logo = draft.logo_url?.startsWith('https://') ? draft.logo_url : undefined
  return (
    <div class="branded sample" ref={room} aria-hidden="true">
      <p class="brand">
        {logo ? <img src={logo} alt="" height={28} /> : <Icon path={mail} size={22} />}
        <Text>{draft.brand_name || OWN.name}</Text>
      </p>
      <p class="sample-field">{common.email}</p>
      <p class="sample-field">{common.password}</p>
      <p class="sample-button">{t.sample}</p>
      <p class="sample-link">{t.sampleLink}</p>
    </div>
  )
}

import { Tabs } from '../../ui/tabs.tsx'
import { t } from './words.ts'

export const SecurityTabs = () => (
  <Tabs
    label={t.area}
    tabs={[
      ['/console/security', t.signIns],
      ['/console/security/blocks', t.blocks],
      ['/console/security/ip-rules', t.ipRules],
      ['/console/security/countries', t.countries],
      ['/console/security/dlp-policies', t.policies],
      ['/console/security/dlp-violations', t.violations],
    ]}
  />
)

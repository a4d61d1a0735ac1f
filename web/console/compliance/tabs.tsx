import { Tabs } from '../../ui/tabs.tsx'
import { t } from './words.ts'

export const ComplianceTabs = () => (
  <Tabs
    label={t.area}
    tabs={[
      ['/console/compliance', t.person],
      ['/console/compliance/holds', t.holds],
      ['/console/compliance/retention', t.retention],
    ]}
  />
)

import json, sys
from pycrate_asn1dir import ITS_CAM_2, ITS_DENM_3
given = json.load(sys.stdin)
kinds = {'cam': ITS_CAM_2.CAM_PDU_Descriptions.CAM, 'denm': ITS_DENM_3.DENM_PDU_Descriptions.DENM}
out = []
for kind, data in given:
    kind, data = kinds[kind], bytes.fromhex(data)
    kind.from_uper(data); assert kind.to_uper() == data
    text = kind.to_jer()
    kind.from_jer(text); assert kind.to_uper() == data
    out.append(json.loads(text))
print(json.dumps(out))

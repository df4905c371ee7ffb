import json, sys, logging
from pycrate_asn1c.asnproc import compile_text, generate_modules, PycrateGenerator
text = '''
J DEFINITIONS AUTOMATIC TAGS ::= BEGIN
BasicSafetyMessage ::= SEQUENCE { coreData BSMcoreData, partII SEQUENCE (SIZE(1..8)) OF NULL OPTIONAL,
  regional SEQUENCE (SIZE(1..4)) OF NULL OPTIONAL, ... }
BSMcoreData ::= SEQUENCE { msgCnt INTEGER (0..127), id OCTET STRING (SIZE(4)), secMark INTEGER (0..65535),
  lat INTEGER (-900000000..900000001), long INTEGER (-1799999999..1800000001), elev INTEGER (-4096..61439),
  accuracy SEQUENCE { semiMajor INTEGER (0..255), semiMinor INTEGER (0..255), orientation INTEGER (0..65535) },
  transmission ENUMERATED { neutral, park, forwardGears, reverseGears, reserved1, reserved2, reserved3, unavailable },
  speed INTEGER (0..8191), heading INTEGER (0..28800), angle INTEGER (-126..127),
  accelSet SEQUENCE { long INTEGER (-2000..2001), lat INTEGER (-2000..2001), vert INTEGER (-127..127), yaw INTEGER (-32767..32767) },
  brakes SEQUENCE { wheelBrakes BIT STRING { unavailable (0), leftFront (1), leftRear (2), rightFront (3), rightRear (4) } (SIZE (5)),
    traction ENUMERATED { unavailable, off, on, engaged }, abs ENUMERATED { unavailable, off, on, engaged },
    scs ENUMERATED { unavailable, off, on, engaged }, brakeBoost ENUMERATED { unavailable, off, on },
    auxBrakes ENUMERATED { unavailable, off, on, reserved } },
  size SEQUENCE { width INTEGER (0..1023), length INTEGER (0..4095) } }
END
'''
import contextlib, os, tempfile, importlib.util
with contextlib.redirect_stdout(sys.stderr):
    compile_text(text)
    path = os.path.join(tempfile.mkdtemp(), 'j.py')
    generate_modules(PycrateGenerator, path)
    spec = importlib.util.spec_from_file_location('j', path); j = importlib.util.module_from_spec(spec); spec.loader.exec_module(j)
kind, out = j.J.BasicSafetyMessage, []
for data in json.load(sys.stdin):
    data = bytes.fromhex(data)
    assert data[:2] == b'\0\x14' and data[2] == len(data) - 3
    kind.from_uper(data[3:]); assert kind.to_uper() == data[3:]
    core = kind.get_val()['coreData']
    out.append([core[name] for name in ('msgCnt', 'secMark', 'lat', 'long', 'elev', 'speed', 'heading', 'angle')]
        + [core['id'].hex(), core['transmission'], core['accelSet']['long'], core['accelSet']['yaw'],
           core['brakes']['wheelBrakes'][0], core['size']['width'], core['size']['length']])
print(json.dumps(out))

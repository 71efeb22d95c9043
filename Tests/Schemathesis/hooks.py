"""What JSON Schema takes for an integer and the server does not: 6.0, which is spelled as a fraction."""
import schemathesis


def spelled_as_integers(value):
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [spelled_as_integers(element) for element in value]
    if isinstance(value, dict):
        return {name: spelled_as_integers(member) for name, member in value.items()}
    return value


@schemathesis.hook
def map_body(context, body):
    return spelled_as_integers(body)

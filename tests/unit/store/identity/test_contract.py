"""The domain's numbers, names and limits are those of the contract."""

import enum

import pytest
from google.protobuf.descriptor import EnumDescriptor

from satchel.api.store.v1 import identity_pb2
from satchel.api.store.v1 import identity_service_pb2 as pb
from satchel.store.identity.drift import Dimension, DriftStatus
from satchel.store.identity.model import FLAGS, NEUTRAL_LEVELS, PHRASES, Category, Cause
from satchel.store.identity.patching import Action
from satchel.store.identity.prompts import Language
from satchel.store.identity.styles import (
    STYLES,
    Certainty,
    Closing,
    Density,
    ExplanationStyle,
    Opening,
    QuestionStyle,
    ResponseLength,
    SentenceStructure,
    Structure,
)

ENUMS = {
    Category: identity_pb2.TraitCategory.DESCRIPTOR,
    Cause: identity_pb2.IdentityCause.DESCRIPTOR,
    Dimension: identity_pb2.IdentityDimension.DESCRIPTOR,
    DriftStatus: identity_pb2.DriftStatus.DESCRIPTOR,
    Action: pb.TraitAction.DESCRIPTOR,
    SentenceStructure: identity_pb2.SentenceStructure.DESCRIPTOR,
    QuestionStyle: identity_pb2.QuestionStyle.DESCRIPTOR,
    ExplanationStyle: identity_pb2.ExplanationStyle.DESCRIPTOR,
    ResponseLength: identity_pb2.ResponseLength.DESCRIPTOR,
    Density: identity_pb2.InformationDensity.DESCRIPTOR,
    Structure: identity_pb2.StructurePreference.DESCRIPTOR,
    Opening: identity_pb2.OpeningStyle.DESCRIPTOR,
    Closing: identity_pb2.ClosingStyle.DESCRIPTOR,
    Certainty: identity_pb2.CertaintyStyle.DESCRIPTOR,
}
MESSAGES = {
    "voice": identity_pb2.Voice.DESCRIPTOR,
    "communication": identity_pb2.Communication.DESCRIPTOR,
    "values": identity_pb2.Values.DESCRIPTOR,
    "emotion": identity_pb2.Emotion.DESCRIPTOR,
}


@pytest.mark.parametrize(
    ("ours", "published"), ENUMS.items(), ids=lambda one: getattr(one, "name", one.__class__)
)
def test_every_number_is_that_of_the_contract(ours: type[enum.IntEnum], published: EnumDescriptor) -> None:
    names = {value.number: value.name for value in published.values if value.number}

    assert {int(one) for one in ours} == names.keys()
    assert all(names[int(one)].endswith(f"_{one.name}") for one in ours)


def test_every_level_flag_style_and_phrase_has_its_field() -> None:
    paths = {*NEUTRAL_LEVELS, *FLAGS, *STYLES, *(f"voice.{kind}" for kind in PHRASES)}
    paths |= {"values.core_values", "values.stances"}
    fields = {f"{part}.{field.name}" for part, message in MESSAGES.items() for field in message.fields}

    assert paths == fields


def test_the_languages_are_those_of_the_contract() -> None:
    published = pb.IdentityLanguage.DESCRIPTOR.values_by_number

    assert {f"IDENTITY_LANGUAGE_{language.name}" for language in Language} == {
        value.name for number, value in published.items() if number
    }

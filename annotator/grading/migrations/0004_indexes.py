import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("grading", "0003_join_key_by_study"),
        ("studies", "0003_indexes"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="assignment",
            name="holds_by_lease",
        ),
        migrations.RemoveIndex(
            model_name="assignment",
            name="hold_of_annotator",
        ),
        migrations.AlterField(
            model_name="assignment",
            name="annotator",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="assignments",
                to="grading.annotator",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(fields=["annotator", "item"], name="had_by_annotator"),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(fields=["annotator", "sequence"], name="in_order_of_annotator"),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("held_until__isnull", False)),
                fields=["held_until"],
                name="holds_by_lease",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("held_until__isnull", False)),
                fields=["annotator", "held_until"],
                name="hold_of_annotator",
            ),
        ),
    ]
